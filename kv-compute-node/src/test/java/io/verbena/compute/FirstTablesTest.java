package io.verbena.compute;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.message.TablePage;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.stream.IntStream;

import static org.assertj.core.api.Assertions.assertThat;

/** The tables that a node opens while it joins. */
class FirstTablesTest
{
    private final MetaRig rig = new MetaRig();

    FirstTablesTest()
    {
        rig.answer("table", (arguments) ->
        {
            if ("dropped".equals(arguments[0]))
            {
                throw new ControlException(ControlStatus.NO_SUCH_TABLE, "dropped meanwhile");
            }
            return new TableEntry((String)arguments[0], 1, new byte[0]);
        });
    }

    private FirstTables begun()
    {
        final FirstTables tables = new FirstTables(rig.link, MetaRig.TIMEOUT_NS);
        rig.run((nowNs) -> tables.poll());
        return tables;
    }

    private static List<String> names(final FirstTables tables)
    {
        return tables.found().stream().map(TableEntry::name).toList();
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    @Test
    void shouldFindTheTablesThatThereStillAre()
    {
        rig.answer("tables", (arguments) -> new TablePage(List.of("dropped", "orders", "users"), false));
        final FirstTables tables = begun();
        assertThat(tables.isListed()).isFalse();
        rig.runUntil(tables::isDone);
        assertThat(names(tables)).containsExactly("orders", "users");
        assertThat(tables.failure()).isEmpty();
    }

    @Test
    void shouldLeaveTablesBeyondTheFirstToTheirOperations()
    {
        final List<String> many = IntStream.range(0, 100).mapToObj((i) -> String.format("t%03d", i)).toList();
        rig.answer("tables", (arguments) -> new TablePage(many, false));
        final FirstTables tables = begun();
        rig.runUntil(tables::isDone);
        assertThat(names(tables)).isEqualTo(many.subList(0, 64));
    }

    @Test
    void shouldSayWhyTheyCannotBeListed()
    {
        rig.refuse("tables", ControlStatus.UNAVAILABLE);
        final FirstTables tables = begun();
        rig.runUntil(() -> !tables.failure().isEmpty());
        assertThat(tables.failure()).contains("UNAVAILABLE");
        assertThat(tables.isListed()).isFalse();
        assertThat(tables.isDone()).isFalse();
    }
}
