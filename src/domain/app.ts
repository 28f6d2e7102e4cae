/** While an app is suspended none of its credentials and tokens works; activating gives back what has not expired. */
export const appStatuses = ['active', 'suspended'] as const
export type AppStatus = (typeof appStatuses)[number]
