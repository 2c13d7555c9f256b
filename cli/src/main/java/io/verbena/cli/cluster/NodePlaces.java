package io.verbena.cli.cluster;

import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Where the processes of a cluster run.
 *
 * @param fabric  of the cluster; null: shared memory of this host, that nobody else has.
 * @param command program by which a process of that name is started on its host, with the process's command line as its
 *                arguments; null: on this host. It must become the process, as {@code exec} does.
 * @param options that every process gets.
 */
public record NodePlaces(String fabric, UnaryOperator<String> command, List<String> options)
{
    /** On this host. */
    static final NodePlaces HERE = onFabric(null, List.of());

    /**
     * On this host.
     *
     * @param fabric  of the cluster; null: as it was, or shared memory that nobody else has.
     * @param options that every process gets.
     * @return places of its processes.
     */
    public static NodePlaces onFabric(final String fabric, final List<String> options)
    {
        return new NodePlaces(fabric, (name) -> null, options);
    }
}
