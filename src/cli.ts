#!/usr/bin/env node
import { store } from './store/service.ts'

process.exitCode = await store.command(process.argv.slice(2))
