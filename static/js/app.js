// Adds comfort only: every page and every action works without it.
import { keepTimes } from './times.js'
import { guardText } from './guard.js'
import { listenKeys } from './keys.js'

keepTimes()
guardText()
listenKeys()
