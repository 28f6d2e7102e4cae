import { environments } from '../../domain/app.ts'
import { refuse } from '../../domain/errors.ts'
import { rightOverSecrets } from '../../domain/member.ts'
import type { Door } from '../../http/door.ts'
import { mayInActiveApp } from '../../operations/acting-as.ts'
import {
  confirmCredential,
  listLiveCredentials,
  type ListedSecret,
  ownsCredential,
  revokeCredential,
  rotateCredential,
} from '../../operations/credentials/credentials.ts'
import { appTokensOf } from '../../operations/reach.ts'
import { secretShownBefore } from '../change.tsx'
import { ChosenName } from '../design/values.tsx'
import { emptyForm, formOf, numberIn, text } from '../form.ts'
import { GraceField, showOnce } from '../secret-page.tsx'
import type { Visit } from '../visit.ts'
import { acting, addressIn, appFor, type AppVisit, environmentField, inEnvironment, stepsBelow } from './app-area.tsx'

// What ends the client secrets of an app. In a suspended app members can revoke secrets, but make none.

const ofSecrets = stepsBelow('credentials', 'Credentials')

/** A secret of this app that has not ended, in its environment and with the others of it. @throws route_not_found for any other */
export const liveSecretOf = async ({ platform }: Door, found: AppVisit, id: string) => {
  const live = await listLiveCredentials(platform, found.app.clientIds)
  const secret = environments.flatMap((environment) => live[environment]).find((one) => one.id === id)
  if (secret === undefined) throw refuse('route_not_found')
  const at = inEnvironment(found, secret.environment)
  return { at, secret, others: live[secret.environment].filter((one) => one.id !== id) }
}

export const secretName = ({ label }: Pick<ListedSecret, 'label'>): string => label ?? 'Secret without a label'

/** Redirects to the page that shows a new secret once. */
export const showSecret = (
  visit: Visit,
  slug: string,
  { id, clientSecret }: { readonly id: string; readonly clientSecret: string },
): Response => showOnce(visit, addressIn(visit, slug, 'credentials', id, 'secret'), clientSecret)

type OfSecret = { readonly at: AppVisit; readonly secret: ListedSecret }

export const secretRevocation = ofSecrets(':id/revoke', {
  link: ['Revoke'],
  when: ({ at, secret }: OfSecret) => at.may(rightOverSecrets(secret.environment)),
  effect: 'takes away',
  form: emptyForm,
  ask: async ({ door }, at, { id }) => {
    const { secret, others } = await liveSecretOf(door, at, id)
    const { environment, hint } = secret
    return {
      title: 'Revoke this secret?',
      says: (
        <p>
          The {environment} secret <ChosenName name={secretName(secret)} />{' '}
          {hint === null ? null : (
            <>
              (ends with <code>{hint}</code>){' '}
            </>
          )}
          of <bdi>{at.app.name}</bdi> and its app tokens stop working at once. Access that users have granted continues.
          This cannot be undone.
        </p>
      ),
      counts: [
        [await appTokensOf(door.platform, { secret: id }), 'app token stops working', 'app tokens stop working'],
        [others.length, `other ${environment} secret stays`, `other ${environment} secrets stay`],
      ],
      button: 'Revoke this secret',
    }
  },
  act: async ({ visit }, { slug, id }, find) => {
    await liveSecretOf(visit.door, await find(), id)
    await acting(visit, ownsCredential(slug, id)).do(revokeCredential, id)
    return 'revoked'
  },
  done: { revoked: 'The secret is revoked. It has stopped working, and so have its app tokens.' },
})

export const secretRotation = ofSecrets('rotate', {
  link: ['Rotate the secret'],
  effect: 'gives a secret',
  form: formOf({ environment: environmentField, graceHours: text }),
  ask: async ({ door }, { app }, _, given) => {
    const environment = environments.find((one) => one === given('environment')) ?? 'development'
    const secrets = (await listLiveCredentials(door.platform, app.clientIds))[environment]
    return {
      title: `Rotate the ${environment} secret?`,
      says: (
        <p>
          <bdi>{app.name}</bdi> gets a new {environment} secret. The older ones stop working after the hours below, and
          so do their app tokens.
        </p>
      ),
      counts: [[secrets.length, 'older secret expires', 'older secrets expire']],
      button: 'Rotate the secret',
      fields: (
        <>
          <input type="hidden" name="environment" value={environment} />
          <GraceField
            label="Hours until the older secrets expire"
            hint="Until then they work beside the new one. With 0 they stop working at once."
          />
        </>
      ),
    }
  },
  act: async ({ visit, fields: { environment, graceHours }, ticket }, { slug }) => {
    const { app } = await appFor(visit, slug)
    const input = { clientId: app.clientIds[environment], graceHours: numberIn(graceHours) }
    const may = mayInActiveApp(slug, rightOverSecrets(environment))
    return showSecret(visit, slug, await acting(visit, may, ticket).do(rotateCredential, input))
  },
  done: {},
  again: secretShownBefore('revoke it and create another'),
})

/** Only operators can know what became of a secret while data was lost. */
export const secretConfirmation = stepsBelow('credentials', 'Credentials', { where: ['desk'] })(':id/confirm', {
  link: ['Reactivate'],
  when: ({ at, secret }: OfSecret) => at.as === 'operator' && secret.status === 'suspended',
  effect: 'gives a right',
  form: emptyForm,
  ask: async ({ door }, at, { id }) => {
    const { secret } = await liveSecretOf(door, at, id)
    return {
      title: 'Reactivate this secret?',
      says: (
        <p>
          The {secret.environment} secret <bdi>{secret.label ?? id}</bdi> of <ChosenName name={at.app.name} /> (
          <code>{at.app.slug}</code>) is suspended because data was lost, and it may have been revoked in the lost time.
          Reactivate it only if the app still uses it and nobody else has it. Otherwise rotate it.
        </p>
      ),
      button: 'Reactivate this secret',
      tone: 'harmless',
    }
  },
  act: async ({ visit }, { slug, id }, find) => {
    await liveSecretOf(visit.door, await find(), id)
    await acting(visit, ownsCredential(slug, id)).do(confirmCredential, id)
    return 'confirmed'
  },
  done: { confirmed: 'The secret works again.' },
})

export const secretSteps = [secretConfirmation, secretRevocation, secretRotation]
