/** Where the contract's endpoints live. */
export const contractPath = '/api/app-platform'
