package io.verbena.compute.session;

import io.verbena.compute.catalog.CatalogWatch;
import io.verbena.compute.catalog.CurrentTables;
import io.verbena.compute.catalog.TableLister;
import io.verbena.compute.catalog.ViewWatch;
import io.verbena.compute.figures.ReclaimCounters;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.RaasContext;
import io.verbena.table.TableEngine;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * What the parts of a session share.
 *
 * @param raas          connections.
 * @param metaLink      to the meta server.
 * @param engine        runs operations.
 * @param identity      of this registration.
 * @param numbers       of requests.
 * @param catalog       which tables were dropped.
 * @param views         of groups, and what was left of them.
 * @param counters      of reclamation.
 * @param holdsLease    whether this registration may still touch memory, now.
 * @param leaseEndsNs   until when it may, as far as it is known.
 * @param timeoutNs     of a control call.
 * @param reclaims      whether chunks of ended nodes are taken over.
 */
public record SessionParts(
    RaasContext raas,
    MetaLink metaLink,
    TableEngine engine,
    PeerIdentity identity,
    RequestNumbers numbers,
    CatalogWatch catalog,
    ViewWatch views,
    ReclaimCounters counters,
    BooleanSupplier holdsLease,
    LongSupplier leaseEndsNs,
    long timeoutNs,
    boolean reclaims)
{
    /** @return what lists the tables for one that judges memory by what they name. */
    public CurrentTables newCurrentTables()
    {
        return new CurrentTables(catalog, new TableLister(metaLink, timeoutNs, raas.clock()));
    }
}
