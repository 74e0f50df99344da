export const jsonType = 'application/json; charset=utf-8'
