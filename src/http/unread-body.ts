import { Elysia } from 'elysia'

/**
 * Keeps Elysia from reading any body. It would read one wherever a method may have one, before everything else and without a
 * limit: a stranger could fill the memory by a DELETE without end. Routes that take a body read it themselves. Mount it before
 * every route.
 */
export const unreadBody = () => new Elysia({ name: 'unread-body' }).onParse({ as: 'global' }, () => ({}))
