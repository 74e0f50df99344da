// The scenario of README.md, by the client of oapi-codegen.
package main

import (
	"context"
	"math"
	"net/http"
	"os"
	"reflect"
	"regexp"
)

const nobody = 1<<53 - 1

func client(key string) *ClientWithResponses {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+key)
		return nil
	}
	made, err := NewClientWithResponses(os.Getenv("PETSTORE_URL")+"/v1", WithRequestEditorFn(authorize))
	expect(err == nil, err)
	return made
}

func main() {
	ctx := context.Background()
	ours := client(os.Getenv("PETSTORE_KEY"))

	rex := *must(ours.CreatePetWithResponse(ctx, nil, PetInput{Name: " Rex", CategoryId: math.MaxInt64})).JSON201
	expect(rex.Name == " Rex" && rex.CategoryId == math.MaxInt64, rex)
	ada := *must(ours.CreatePetWithResponse(ctx, nil, PetInput{Name: "Ada", CategoryId: math.MinInt64})).JSON201
	expect(ada.CategoryId == math.MinInt64, ada)

	limit, status := 1, Available
	first := must(ours.ListPetsWithResponse(ctx, &ListPetsParams{Limit: &limit, Status: &status}))
	cursor := regexp.MustCompile(`cursor=([\w-]+)`).FindStringSubmatch(*first.Headers200.Link)[1]
	next := ListPetsParams{Limit: &limit, Status: &status, Cursor: &cursor}
	second := (*must(ours.ListPetsWithResponse(ctx, &next)).JSON200)[0]
	expect(len(*first.JSON200) == 1 && (*first.JSON200)[0].Id < second.Id && second.Id <= ada.Id, second)

	same := *must(ours.GetPetWithResponse(ctx, rex.Id, nil)).JSON200
	expect(reflect.DeepEqual(same, rex), same)
	absent := must(ours.GetPetWithResponse(ctx, nobody, nil)).JSON404
	expect(absent != nil && absent.Code == PetNotFound, absent)

	order := *must(ours.PlaceOrderWithResponse(ctx, nil, OrderInput{PetId: rex.Id})).JSON201
	expect(order.PetId == rex.Id && order.Status == Placed, order)
	taken := must(ours.PlaceOrderWithResponse(ctx, nil, OrderInput{PetId: rex.Id})).JSON409
	expect(taken != nil && taken.Code == PetNotAvailable, taken)

	events := *must(ours.ListPetEventsWithResponse(ctx, rex.Id, nil)).JSON200
	expect(len(events) == 2, events)
	created, isCreated := must(events[0].ValueByDiscriminator()).(PetCreated)
	expect(isCreated && created.Data.Id == rex.Id && created.Data.Name == rex.Name && created.Data.CategoryId == rex.CategoryId && *created.Streamversion == 1, created)
	placed, isPlaced := must(events[1].ValueByDiscriminator()).(OrderPlaced)
	expect(isPlaced && placed.Data.OrderId == order.Id && placed.Streamversion == 2, placed)

	stranger := must(client("nobody").ListPetsWithResponse(ctx, nil)).JSON401
	expect(stranger != nil && stranger.Code == Unauthorized, stranger)
}

func must[Value any](value Value, err error) Value {
	expect(err == nil, err)
	return value
}

func expect(isTrue bool, found any) {
	if !isTrue {
		panic(found)
	}
}
