import { mixedScripts } from '../../domain/name.ts'

/** Points out that the name of an app mixes scripts: letters of one can look like letters of another. */
export const MixedScripts = ({ name }: { readonly name: string }) => {
  const scripts = mixedScripts(name)
  if (scripts === null) return null
  return (
    <>
      <dt>The name mixes scripts</dt>
      <dd>
        {scripts.map(({ script, letters }) => (
          <div key={script}>
            {script}: <bdi>{letters.join(' ')}</bdi>
          </div>
        ))}
        Letters of one script can look like letters of another. Compare the name with the one that it may imitate.
      </dd>
    </>
  )
}
