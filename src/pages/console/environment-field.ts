import { Type } from '@sinclair/typebox'

/** The environment that a form is about. */
export const environmentField = Type.Union([Type.Literal('development'), Type.Literal('production')])
