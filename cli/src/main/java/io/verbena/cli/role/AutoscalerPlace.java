package io.verbena.cli.role;

import java.nio.file.Path;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * The meta server in whose process an autoscaler runs.
 *
 * @param data       its folder, which takes the record of decisions.
 * @param address    where it is found while it leads; known when it leads.
 * @param tokenFile  of the cluster.
 * @param tls        with which a client connects to it.
 * @param isGroup    whether other meta servers may lead in its place.
 * @param leaseS     of nodes: identities that an earlier leader may have given out are listed for so long.
 * @param leadership says which leadership it holds at this moment, 0 or more; negative: none. Any thread.
 */
public record AutoscalerPlace(
    Path data, Supplier<String> address, Path tokenFile, TlsOptions tls, boolean isGroup, int leaseS,
    LongSupplier leadership)
{
}
