import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.JSON;
import org.openapitools.client.api.AnimalsApi;
import org.openapitools.client.api.EventsApi;
import org.openapitools.client.api.StoreApi;
import org.openapitools.client.model.Error;
import org.openapitools.client.model.ErrorCode;
import org.openapitools.client.model.Order;
import org.openapitools.client.model.OrderInput;
import org.openapitools.client.model.OrderPlaced;
import org.openapitools.client.model.OrderStatus;
import org.openapitools.client.model.Pet;
import org.openapitools.client.model.PetCreated;
import org.openapitools.client.model.PetEvent;
import org.openapitools.client.model.PetInput;
import org.openapitools.client.model.PetStatus;

/** The scenario of README.md, by the Java client of openapi-generator. */
public class Scenario {
    private static final long NOBODY = 9007199254740991L;

    private interface Call {
        void run() throws ApiException;
    }

    public static void main(String[] arguments) throws ApiException {
        ApiClient ours = client(System.getenv("PETSTORE_KEY"));
        AnimalsApi animals = new AnimalsApi(ours);
        StoreApi store = new StoreApi(ours);

        Pet rex = animals.createPet(new PetInput().name(" Rex").categoryId(Long.MAX_VALUE), null, null, null);
        expect(rex.getName().equals(" Rex") && rex.getCategoryId() == Long.MAX_VALUE, rex);
        Pet ada = animals.createPet(new PetInput().name("Ada").categoryId(Long.MIN_VALUE), null, null, null);
        expect(ada.getCategoryId() == Long.MIN_VALUE, ada);

        ApiResponse<List<Pet>> first = animals.listPetsWithHttpInfo(1, PetStatus.AVAILABLE, null, null, null, null);
        expect(first.getData().size() == 1, first.getData());
        Matcher cursor = Pattern.compile("cursor=([\\w-]+)").matcher(first.getHeaders().get("link").get(0));
        expect(cursor.find(), first.getHeaders());
        Pet second = animals.listPets(1, PetStatus.AVAILABLE, cursor.group(1), null, null, null).get(0);
        expect(first.getData().get(0).getId() < second.getId() && second.getId() <= ada.getId(), second);

        expect(animals.getPet(rex.getId(), null, null, null).equals(rex), rex);
        refused(404, ErrorCode.PET_NOT_FOUND, () -> animals.getPet(NOBODY, null, null, null));

        OrderInput input = new OrderInput().petId(rex.getId());
        Order order = store.placeOrder(input, null, null, null);
        expect(order.getPetId().equals(rex.getId()) && order.getStatus() == OrderStatus.PLACED, order);
        refused(409, ErrorCode.PET_NOT_AVAILABLE, () -> store.placeOrder(input, null, null, null));

        List<PetEvent> events = new EventsApi(ours).listPetEvents(rex.getId(), null, null, null, null);
        expect(events.size() == 2, events);
        PetCreated created = events.get(0).getPetCreated();
        expect(created.getData().getName().equals(rex.getName()) && created.getData().getCategoryId().equals(rex.getCategoryId()) && created.getStreamversion() == 1, created);
        OrderPlaced placed = events.get(1).getOrderPlaced();
        expect(placed.getData().getOrderId().equals(order.getId()) && placed.getStreamversion() == 2, placed);

        AnimalsApi stranger = new AnimalsApi(client("nobody"));
        refused(401, ErrorCode.UNAUTHORIZED, () -> stranger.listPets(null, null, null, null, null, null));
    }

    private static ApiClient client(String key) {
        ApiClient client = new ApiClient().setBasePath(System.getenv("PETSTORE_URL") + "/v1");
        client.setBearerToken(key);
        return client;
    }

    private static void refused(int status, ErrorCode code, Call call) {
        try {
            call.run();
        } catch (ApiException raised) {
            Error error = JSON.getGson().fromJson(raised.getResponseBody(), Error.class);
            expect(raised.getCode() == status && error.getCode() == code, raised);
            return;
        }
        throw new AssertionError(code + " is expected");
    }

    private static void expect(boolean isTrue, Object found) {
        if (!isTrue) throw new AssertionError(found);
    }
}
