/** A moment (epoch milliseconds) in UTC; the script tells it in the reader's own zone. */
export const Time = ({ at }: { readonly at: number }) => {
  const iso = new Date(at).toISOString()
  return <time dateTime={iso}>{`${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`}</time>
}
