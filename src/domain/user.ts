/** A disabled user keeps everything and can do nothing; enabling gives it back. */
export const userStatuses = ['active', 'disabled'] as const
export type UserStatus = (typeof userStatuses)[number]
