/**
 * Who is alive and what that allows: registrations, leases, epochs, fencing. Plain state machines of one thread whose
 * time comes in as a parameter; what must survive a restart is in the {@link io.verbena.meta.membership.MetaLedger}
 * before anybody is notified. Knows nothing of messages, queue pairs or tables.
 */
package io.verbena.meta.membership;
