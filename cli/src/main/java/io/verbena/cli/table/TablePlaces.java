package io.verbena.cli.table;

import io.verbena.cli.cluster.MetaCalls;
import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.directory.Subtable;
import io.verbena.table.format.TableDescriptor;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * On which memory nodes a table is, and how many copies it has there, as the meta server knows it.
 *
 * @param copies      of each record, now; the fewest where parts differ.
 * @param memoryNodes ids of memory nodes with a part of it, ascending.
 * @param groups      of these, by which its directory names them; empty where each part has one copy.
 */
record TablePlaces(int copies, List<Integer> memoryNodes, List<Integer> groups)
{
    /**
     * Asks the meta server.
     *
     * @param meta      connected.
     * @param tables    names of tables that there are.
     * @param timeoutNs of each answer.
     * @return of each table, by name.
     */
    static Map<String, TablePlaces> of(final MetaCalls meta, final List<String> tables, final long timeoutNs)
    {
        final Map<Integer, View> views =
            meta.views(timeoutNs).stream().collect(Collectors.toMap(View::group, (view) -> view));
        final Map<String, TablePlaces> places = new TreeMap<>();
        for (final String table : tables)
        {
            places.put(table, of(TableDescriptor.decode(
                meta.result((client) -> client.table(table, timeoutNs)).descriptor()), views));
        }
        return places;
    }

    /**
     * @param table as published.
     * @param views of groups, by their numbers.
     * @return where it is.
     */
    static TablePlaces of(final TableDescriptor table, final Map<Integer, View> views)
    {
        final List<Integer> ids =
            Subtable.of(table).stream().map(Subtable::memoryNodeId).distinct().sorted().toList();
        final List<List<Integer>> places = ids.stream().map((id) -> memoryNodes(id, views)).toList();
        return new TablePlaces(
            places.stream().mapToInt(List::size).min().orElse(0),
            places.stream().flatMap(List::stream).distinct().sorted().toList(),
            ids.stream().filter(views::containsKey).toList());
    }

    private static List<Integer> memoryNodes(final int id, final Map<Integer, View> views)
    {
        return views.containsKey(id) ? views.get(id).survivors().stream().map(PeerIdentity::nodeId).toList() :
            List.of(id);
    }

    /** For programs. */
    Map<String, Object> figures()
    {
        final Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("copies", copies);
        figures.put("memory_nodes", memoryNodes);
        figures.put("memory_groups", groups);
        return figures;
    }

    /** For people: {@code 1, 2, 3 (group 10)}. */
    String text()
    {
        return numbers(memoryNodes) + (groups.isEmpty() ? "" :
            (1 == groups.size() ? " (group " : " (groups ") + numbers(groups) + ')');
    }

    private static String numbers(final List<Integer> ids)
    {
        return ids.stream().map(String::valueOf).collect(Collectors.joining(", "));
    }
}
