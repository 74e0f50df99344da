/**
 * Counts the sold pets of each category, and prints a count when it changes. The counts and the position are stored in one
 * transaction, so each sale counts exactly once, whatever ends the process. Delete the file to have them counted anew.
 */
import { Database } from './database.ts'
import { follow } from './kafka.ts'

const database = new Database(process.env.DATABASE ?? 'projection.db')
database.sql.exec('CREATE TABLE IF NOT EXISTS sales (category_id INTEGER PRIMARY KEY, sold INTEGER NOT NULL)')
const count = 'INSERT INTO sales VALUES (?, 1) ON CONFLICT DO UPDATE SET sold = sold + 1 RETURNING sold'

await follow(process.env.KAFKA_GROUP ?? 'example-projection', database, ({ type, pet }) => {
  // By an order, or from the beginning. A sold pet can still be changed or removed, which is no other sale.
  if (pet.status !== 'sold' || !/PetCreated|OrderDelivered/.test(type)) return
  const { sold } = database.row(count, pet.categoryId) ?? {}
  process.stdout.write(`category ${pet.categoryId}: ${sold} sold\n`)
})
database.sql.close()
