import { Badge } from '../../components/badges.tsx'

/** Marks what the app's development credentials work on. */
export const HeadBadge = ({ isHead }: { readonly isHead: boolean }) => (isHead ? <Badge>Development head</Badge> : null)
