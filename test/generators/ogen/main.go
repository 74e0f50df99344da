// The scenario of README.md, by the client of ogen.
package main

import (
	"context"
	"math"
	"os"
	"reflect"
	"regexp"

	"petstore/client"
)

const nobody = 1<<53 - 1

type key string

func (key key) ApiKey(context.Context, client.OperationName) (client.ApiKey, error) {
	return client.ApiKey{Token: string(key)}, nil
}

func open(key key) *client.Client {
	return must(client.NewClient(os.Getenv("PETSTORE_URL")+"/v1", key))
}

func main() {
	ctx := context.Background()
	ours := open(key(os.Getenv("PETSTORE_KEY")))

	rex := answer[*client.PetHeaders](ours.CreatePet(ctx, &client.PetInput{Name: " Rex", CategoryId: math.MaxInt64}, client.CreatePetParams{})).Response
	expect(rex.Name == " Rex" && rex.CategoryId == math.MaxInt64, rex)
	ada := answer[*client.PetHeaders](ours.CreatePet(ctx, &client.PetInput{Name: "Ada", CategoryId: math.MinInt64}, client.CreatePetParams{})).Response
	expect(ada.CategoryId == math.MinInt64, ada)

	query := client.ListPetsParams{Limit: client.NewOptInt(1), Status: client.NewOptPetStatus(client.PetStatusAvailable)}
	first := answer[*client.PetsHeaders](ours.ListPets(ctx, query))
	query.Cursor = client.NewOptString(regexp.MustCompile(`cursor=([\w-]+)`).FindStringSubmatch(first.Link.Value)[1])
	second := answer[*client.PetsHeaders](ours.ListPets(ctx, query)).Response[0]
	expect(len(first.Response) == 1 && first.Response[0].ID < second.ID && second.ID <= ada.ID, second)

	same := answer[*client.GetPetOKHeaders](ours.GetPet(ctx, client.GetPetParams{PetId: rex.ID})).Response
	expect(reflect.DeepEqual(same, rex), same)
	absent := answer[*client.GetPetNotFound](ours.GetPet(ctx, client.GetPetParams{PetId: nobody}))
	expect(absent.Response.Code == client.ErrorCodePetNotFound, absent)

	order := answer[*client.OrderHeaders](ours.PlaceOrder(ctx, &client.OrderInput{PetId: rex.ID}, client.PlaceOrderParams{})).Response
	expect(order.PetId == rex.ID && order.Status == client.OrderStatusPlaced, order)
	taken := answer[*client.PlaceOrderConflict](ours.PlaceOrder(ctx, &client.OrderInput{PetId: rex.ID}, client.PlaceOrderParams{}))
	expect(taken.Response.Code == client.ErrorCodePetNotAvailable, taken)

	events := answer[*client.PetEventsHeaders](ours.ListPetEvents(ctx, client.ListPetEventsParams{PetId: rex.ID})).Response
	expect(len(events) == 2, events)
	created, isCreated := events[0].GetPetCreated()
	expect(isCreated && created.Data.ID == rex.ID && created.Data.Name == rex.Name && created.Data.CategoryId == rex.CategoryId && created.Streamversion.Value == 1, created)
	placed, isPlaced := events[1].GetOrderPlaced()
	expect(isPlaced && placed.Data.OrderId == order.ID && placed.Streamversion == 2, placed)

	stranger := answer[*client.ListPetsUnauthorized](open("nobody").ListPets(ctx, client.ListPetsParams{}))
	expect(stranger.Response.Code == client.ErrorCodeUnauthorized, stranger)
}

// answer is the answer of an operation as what it has to be.
func answer[Answer any](found any, err error) Answer {
	expect(err == nil, err)
	wanted, isWanted := found.(Answer)
	expect(isWanted, found)
	return wanted
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
