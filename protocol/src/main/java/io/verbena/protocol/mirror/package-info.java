/**
 * Leases of chunks that all members of a group of memory nodes record, as the compute node that asks for them runs
 * them; see {@code docs/protocol/mirrored-leases.md}. Knows control calls only; must not know tables.
 */
package io.verbena.protocol.mirror;
