package io.verbena.cli.cluster;

import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.StoredTable;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.Registration;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

import static org.assertj.core.api.Assertions.assertThat;

/** What meta servers have acknowledged to {@link ControlCaller}s, and whether it is so. Thread-safe. */
final class ControlRecord
{
    private final Set<Integer> incarnations = new HashSet<>();
    private final Set<Integer> nodeIds = new HashSet<>();
    private final Set<Integer> tableIds = new HashSet<>();
    /** Tables whose creation was acknowledged and whose drop was not asked for, with their numbers. */
    private final Map<String, Integer> present = new TreeMap<>();
    private final Set<String> absent = new HashSet<>();
    private final Set<String> unknown = new HashSet<>();
    private final Map<ControlStatus, Integer> ends = new EnumMap<>(ControlStatus.class);
    private long acknowledged;

    synchronized void registered(final Registration registration)
    {
        assertThat(incarnations.add(registration.incarnation())).as("given once: %s", registration).isTrue();
        assertThat(nodeIds.add(registration.nodeId())).as("given once: %s", registration).isTrue();
        acknowledged++;
    }

    synchronized void renewed()
    {
        acknowledged++;
    }

    synchronized void left()
    {
        acknowledged++;
    }

    synchronized void numbered(final int tableId)
    {
        assertThat(tableIds.add(tableId)).as("table number %s is given once", tableId).isTrue();
        acknowledged++;
    }

    synchronized void creating(final String table)
    {
        unknown.add(table);
    }

    synchronized void created(final String table, final int tableId)
    {
        unknown.remove(table);
        present.put(table, tableId);
        acknowledged++;
    }

    /** Of those of one caller; null: it has none. */
    synchronized String anyTable(final String caller, final Random random)
    {
        final List<String> own = new ArrayList<>(
            present.keySet().stream().filter((table) -> table.startsWith(caller + '-')).toList());
        return own.isEmpty() ? null : own.get(random.nextInt(own.size()));
    }

    synchronized void dropping(final String table)
    {
        present.remove(table);
        unknown.add(table);
    }

    synchronized void dropped(final String table)
    {
        unknown.remove(table);
        absent.add(table);
        acknowledged++;
    }

    synchronized void ended(final ControlStatus status)
    {
        ends.merge(status, 1, Integer::sum);
    }

    synchronized long acknowledgedCount()
    {
        return acknowledged;
    }

    /** Compares it with the state of a member, in which all is that was ever acknowledged. */
    synchronized void check(final String when, final MetaState state)
    {
        final Map<String, Integer> found = new TreeMap<>();
        final Set<Integer> numbers = new HashSet<>();
        for (final StoredTable table : state.tables())
        {
            found.put(table.name(), table.tableId());
            assertThat(numbers.add(table.tableId())).as("%s: one table has number %s", when, table.tableId()).isTrue();
        }
        assertThat(found).as("%s: tables that were created", when).containsAllEntriesOf(present);
        final Set<String> unexplained = new HashSet<>(found.keySet());
        unexplained.removeAll(present.keySet());
        unexplained.removeAll(unknown);
        assertThat(unexplained).as("%s: tables that were dropped, or never created", when).isEmpty();
        assertThat(tableIds).as("%s: table numbers", when).isNotEmpty()
            .allSatisfy((number) -> assertThat(number).isLessThan(state.counters().nextTableId()));
        assertThat(incarnations).as("%s: incarnations", when).isNotEmpty()
            .allSatisfy((number) -> assertThat(number).isLessThan(state.counters().nextIncarnation()));
        assertThat(state.nodes().stream().map((node) -> node.incarnation()).distinct()).as("%s: registrations", when)
            .hasSameSizeAs(state.nodes());
    }

    @Override
    public synchronized String toString()
    {
        return acknowledged + " acknowledged: " + incarnations.size() + " registrations, " + tableIds.size() +
            " table numbers, " + (present.size() + absent.size()) + " tables created and " + absent.size() +
            " of them dropped, " + unknown.size() + " tables of which it is not known; calls ended with " + ends;
    }
}
