// Adds comfort only: every page and every action works without it.
import { keepTimes } from './times.js'
import { guardText } from './guard.js'
import { listenKeys } from './keys.js'
import { keepLive } from './live.js'
import { takePasted } from './paste.js'
import { keepBeat } from './beat.js'

document.documentElement.dataset.script = 'on' // hints at keys show from now on
keepTimes()
guardText()
listenKeys()
takePasted()
keepLive()
keepBeat()
if (document.querySelector('[data-passkey]')) import('./passkey.js')
