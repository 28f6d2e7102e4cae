import type { VersionRecord } from '../../../operations/versions/version-record.ts'

/** Why an operator said no, and what there is to mend; nothing for a version that was not rejected. */
export const Rejection = ({ rejection }: Pick<VersionRecord, 'rejection'>) =>
  rejection === null ? null : (
    <section class="problem" aria-labelledby="rejection">
      <h2 id="rejection">Why it was rejected</h2>
      <p class="as-written" dir="auto">
        {rejection.message}
      </p>
      {rejection.items.length === 0 ? null : (
        <ul>
          {rejection.items.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              {path === '' ? null : (
                <code>
                  <bdi>{path}</bdi>
                </code>
              )}{' '}
              <span class="as-written" dir="auto">
                {message}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
