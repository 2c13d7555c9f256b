package io.verbena.rdma.soft;

import io.verbena.rdma.verbs.ProtectionDomain;

/**
 * A protection domain, as what belongs to it is checked against it.
 *
 * @param domain itself, for what is checked in this process.
 * @param id     unique on the device, for what peers check.
 */
record DomainIdentity(ProtectionDomain domain, int id)
{
}
