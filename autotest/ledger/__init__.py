"""The ledger of what is known to diverge: its entries, their proofs, and the pages made of them."""
