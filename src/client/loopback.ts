/** Whether a host is this very machine. Names below localhost are not: some resolvers ask the network for those. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(host)
