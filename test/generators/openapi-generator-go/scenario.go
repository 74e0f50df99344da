// The scenario of README.md, by the Go client of openapi-generator.
package main

import (
	"context"
	"errors"
	"math"
	"net/http"
	"os"
	"reflect"
	"regexp"

	petstore "github.com/petstore/client"
)

const nobody = 1<<53 - 1

func client(key string) *petstore.APIClient {
	config := petstore.NewConfiguration()
	config.Servers = petstore.ServerConfigurations{{URL: os.Getenv("PETSTORE_URL") + "/v1"}}
	config.AddDefaultHeader("Authorization", "Bearer "+key)
	return petstore.NewAPIClient(config)
}

func main() {
	ctx := context.Background()
	ours := client(os.Getenv("PETSTORE_KEY"))
	animals, store, events := ours.AnimalsAPI, ours.StoreAPI, ours.EventsAPI

	rex, _, err := animals.CreatePet(ctx).PetInput(*petstore.NewPetInput(" Rex", math.MaxInt64)).Execute()
	expect(err == nil && rex.Name == " Rex" && rex.CategoryId == math.MaxInt64, rex, err)
	ada, _, err := animals.CreatePet(ctx).PetInput(*petstore.NewPetInput("Ada", math.MinInt64)).Execute()
	expect(err == nil && ada.CategoryId == math.MinInt64, ada, err)

	available := animals.ListPets(ctx).Limit(1).Status(petstore.AVAILABLE)
	first, response, err := available.Execute()
	expect(err == nil && len(first) == 1, first, err)
	cursor := regexp.MustCompile(`cursor=([\w-]+)`).FindStringSubmatch(response.Header.Get("Link"))[1]
	second, _, err := available.Cursor(cursor).Execute()
	expect(err == nil && first[0].Id < second[0].Id && second[0].Id <= ada.Id, second, err)

	same, _, err := animals.GetPet(ctx, rex.Id).Execute()
	expect(err == nil && reflect.DeepEqual(same, rex), same, err)
	_, response, err = animals.GetPet(ctx, nobody).Execute()
	refused(response, err, 404, petstore.PET_NOT_FOUND)

	order, _, err := store.PlaceOrder(ctx).OrderInput(*petstore.NewOrderInput(rex.Id)).Execute()
	expect(err == nil && order.PetId == rex.Id && order.Status == petstore.PLACED, order, err)
	_, response, err = store.PlaceOrder(ctx).OrderInput(*petstore.NewOrderInput(rex.Id)).Execute()
	refused(response, err, 409, petstore.PET_NOT_AVAILABLE)

	history, _, err := events.ListPetEvents(ctx, rex.Id).Execute()
	expect(err == nil && len(history) == 2, history, err)
	created, placed := history[0].PetCreated, history[1].OrderPlaced
	expect(created != nil && created.Data.Id == rex.Id && created.Data.Name == rex.Name && created.Data.CategoryId == rex.CategoryId && *created.Streamversion == 1, created)
	expect(placed != nil && placed.Data.OrderId == order.Id && placed.Streamversion == 2, placed)

	_, response, err = client("nobody").AnimalsAPI.ListPets(ctx).Execute()
	refused(response, err, 401, petstore.UNAUTHORIZED)
}

func refused(response *http.Response, err error, status int, code petstore.ErrorCode) {
	var raised *petstore.GenericOpenAPIError
	expect(errors.As(err, &raised) && response.StatusCode == status, err)
	answer, isOurs := raised.Model().(petstore.Error)
	expect(isOurs && answer.Code == code, raised.Model())
}

func expect(isTrue bool, found ...any) {
	if !isTrue {
		panic(found)
	}
}
