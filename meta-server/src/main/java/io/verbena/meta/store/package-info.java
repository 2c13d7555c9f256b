/**
 * What the meta server must not forget, and where it keeps it: counters, nodes and table descriptors as checksummed,
 * versioned records in a {@link io.verbena.meta.store.MetaStore}. Knows nothing of leases, epochs, messages or
 * transports: it stores what it is given, atomically and durably, and refuses what it cannot read, by name.
 */
package io.verbena.meta.store;
