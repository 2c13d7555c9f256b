package io.verbena.cli.table;

import io.verbena.cli.cluster.ClientOptions;
import io.verbena.cli.cluster.MetaCalls;
import io.verbena.cli.console.CommandFailedException;
import io.verbena.client.TableOptions;
import io.verbena.raas.directory.NodeRole;
import io.verbena.raas.directory.PeerRecord;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** How many copies a new table can have, and where those are that it got. Stateless. */
final class CreatedCopies
{
    private CreatedCopies()
    {
    }

    /**
     * Asks the meta server of a cluster.
     *
     * @param options of the cluster.
     * @return most copies that can be in different failure domains, 1 to {@link TableOptions#MAX_COPIES}.
     */
    static int possible(final ClientOptions options)
    {
        try (MetaCalls meta = options.openMeta())
        {
            return possible(meta.nodes(options.timeoutNs()).stream()
                .filter((node) -> NodeRole.MEMORY_NODE == node.role()).map(PeerRecord::nodeId).toList(),
                meta.failureDomains(options.timeoutNs()));
        }
    }

    /**
     * Counts failure domains.
     *
     * @param memoryNodes ids of those that live.
     * @param domains     labels by id; a memory node without one is a failure domain of its own.
     * @return most copies that can be in different ones, 1 to {@link TableOptions#MAX_COPIES}.
     */
    static int possible(final Collection<Integer> memoryNodes, final Map<Integer, String> domains)
    {
        final long alone = memoryNodes.stream().filter((id) -> !domains.containsKey(id)).count();
        final long labels = memoryNodes.stream().map(domains::get).filter((label) -> null != label).distinct().count();
        return Math.clamp(alone + labels, 1, TableOptions.MAX_COPIES);
    }

    /**
     * Asks the meta server where a table is.
     *
     * @param options of the cluster.
     * @param name    of the table.
     * @param isAuto  whether the number of copies was not given.
     * @return one line about it; without more than its name when the meta server does not answer, since it was made.
     */
    static String describe(final ClientOptions options, final String name, final boolean isAuto)
    {
        try (MetaCalls meta = options.openMeta())
        {
            return text(name, TablePlaces.of(meta, List.of(name), options.timeoutNs()).get(name).memoryNodes(),
                meta.failureDomains(options.timeoutNs()), isAuto);
        }
        catch (final CommandFailedException ex)
        {
            return "table " + name + " was created; where its copies are is not known: " + ex.getMessage();
        }
    }

    /**
     * Says where the copies of a table are.
     *
     * @param name        of the table.
     * @param memoryNodes where its copies are.
     * @param domains     labels by id.
     * @param isAuto      whether the number of copies was not given.
     * @return one line, with what follows where copies are lost together or are fewer than could be.
     */
    static String text(
        final String name, final List<Integer> memoryNodes, final Map<Integer, String> domains, final boolean isAuto)
    {
        final int copies = memoryNodes.size();
        final StringBuilder text = new StringBuilder("table ").append(name).append(1 == copies ? " has 1 copy" :
            " has " + copies + " copies").append(1 == copies ? ", on memory node " : ", on memory nodes ")
            .append(memoryNodes.stream().map((id) -> domains.containsKey(id) ? id + " (" + domains.get(id) + ')' :
                id.toString()).collect(Collectors.joining(", ")));
        if (isAuto && copies < TableOptions.MAX_COPIES)
        {
            text.append("; ").append(TableOptions.MAX_COPIES).append(" take as many memory nodes in different ")
                .append("failure domains");
        }
        final Map<String, List<Integer>> together = new TreeMap<>();
        memoryNodes.stream().filter(domains::containsKey).forEach((id) ->
            together.computeIfAbsent(domains.get(id), (_) -> new ArrayList<>()).add(id));
        together.forEach((label, ids) ->
        {
            if (ids.size() > 1)
            {
                text.append("; there are fewer failure domains than copies: what takes ").append(label)
                    .append(" down takes ").append(ids.size()).append(" of them");
            }
        });
        return text.toString();
    }
}
