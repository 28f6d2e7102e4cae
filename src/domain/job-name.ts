/** What each job of the server does, by its name. */
const words = {
  purge: 'Removes expired rows, once a minute',
  'keep-time': 'Stores the trusted time, once a minute',
  'announce-deprecations': 'Announces deprecated API versions, once an hour',
  'tell-builder': 'Tells the endpoints of the builder what has happened',
  'tell-waiting-work': 'Mails operators what waits for them',
  'tell-refusals': 'Adds repeated refusals to the audit log',
  'watch-conditions': 'Looks for problems that an operator has to solve',
  'share-limits': 'Shares rate limits with the other servers',
  'send-mails': 'Sends mails',
  'daily-backup': 'Makes the backup of the day',
  webhooks: 'Delivers webhooks',
} as const
export type JobName = keyof typeof words

const isJobName = (name: string): name is JobName => name in words

export const wordsOfJob = (name: string): string => (isJobName(name) ? words[name] : name)
