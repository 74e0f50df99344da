import { exactJson, type Projection } from '../src/engine/index.ts'
import type { CategoryState } from '../src/store/category-stream.ts'

/** Every category that is not removed by id. */
export const categories: Projection<CategoryState> = {
  name: 'categories',
  version: 1,
  documents(state) {
    if (state === undefined) return []
    const { isRemoved, ...category } = state
    return [{ collection: 'categories', id: category.id, json: isRemoved ? null : exactJson(category) }]
  },
}
