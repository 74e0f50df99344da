import { expect } from 'vitest'
import type { Answer, Client } from './client.ts'
import type { Order } from './consumer.ts'

export function place(client: Client, petId: number, headers: Record<string, string> = {}): Promise<Answer> {
  return client.request('/v1/store/orders', { method: 'POST', body: JSON.stringify({ petId }), headers })
}

export function update(
  client: Client,
  order: number,
  status: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return client.request(`/v1/store/orders/${order}`, { method: 'PATCH', body: JSON.stringify({ status }), headers })
}

export async function placed(client: Client, petId: number): Promise<Order> {
  const { status, body } = await place(client, petId)
  expect(status, JSON.stringify(body)).toBe(201)
  return body as Order
}
