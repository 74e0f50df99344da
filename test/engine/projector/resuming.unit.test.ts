import { expect, it } from 'vitest'
import { everything } from './projecting.ts'
import { runningWorld, someSeats, undisturbed, untilCaughtUp } from './world.ts'

it('a projector that begins again applies each record that came meanwhile', async () => {
  const world = await runningWorld(3)
  await world.stop()
  await world.append(someSeats(4, 2))
  await world.start()
  await untilCaughtUp(world)
  expect(await everything(world.store)).toEqual(await undisturbed(world.log))
})
