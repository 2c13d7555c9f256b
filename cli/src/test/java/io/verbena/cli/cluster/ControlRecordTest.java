package io.verbena.cli.cluster;

import io.verbena.meta.store.MetaCounters;
import io.verbena.meta.store.MetaState;
import io.verbena.meta.store.StoredNode;
import io.verbena.meta.store.StoredTable;
import io.verbena.protocol.message.Registration;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The judge of {@link MetaGroupFaultsSystemTest} finds what must not be. */
class ControlRecordTest
{
    private static final StoredTable KEPT = table("kept", 1);
    private static final StoredTable UNKNOWN = table("unknown", 3);

    private final ControlRecord record = new ControlRecord();

    private static StoredTable table(final String name, final int number)
    {
        return new StoredTable(name, number, new byte[1]);
    }

    private static Registration registration(final int nodeId, final int incarnation)
    {
        return new Registration(nodeId, incarnation, 1, 1, 1, 1, 1, 7, null, List.of(), List.of());
    }

    private static MetaState state(final int nextIncarnation, final int nextTableId, final StoredTable... tables)
    {
        return new MetaState(new MetaCounters(7, nextIncarnation, 6, 1, 1, 1, nextTableId), null, List.of(),
            Arrays.asList(tables), List.of(), List.of(), List.of());
    }

    @BeforeEach
    void acknowledge()
    {
        record.registered(registration(5, 9));
        for (int number = 1; number <= 3; number++)
        {
            record.numbered(number);
        }
        record.creating("kept");
        record.created("kept", 1);
        record.creating("dropped");
        record.created("dropped", 2);
        record.dropping("dropped");
        record.dropped("dropped");
        record.creating("unknown");
    }

    @Test
    void shouldAcceptWhatWasAcknowledgedWithAndWithoutWhatIsUnknown()
    {
        assertThatCode(() -> record.check("now", state(10, 4, KEPT))).doesNotThrowAnyException();
        assertThatCode(() -> record.check("now", state(10, 4, KEPT, UNKNOWN))).doesNotThrowAnyException();
    }

    @Test
    void shouldFindWhatIsLostOrBack()
    {
        assertThatThrownBy(() -> record.check("now", state(10, 4, UNKNOWN))).hasMessageContaining("were created");
        assertThatThrownBy(() -> record.check("now", state(10, 4, table("kept", 3))))
            .hasMessageContaining("were created");
        assertThatThrownBy(() -> record.check("now", state(10, 4, KEPT, table("dropped", 2))))
            .hasMessageContaining("were dropped");
        assertThatThrownBy(() -> record.check("now", state(10, 4, KEPT, table("unknown", 1))))
            .hasMessageContaining("one table has number 1");
    }

    @Test
    void shouldFindNumbersThatWillBeOrWereGivenTwice()
    {
        assertThatThrownBy(() -> record.check("now", state(9, 4, KEPT))).hasMessageContaining("incarnations");
        assertThatThrownBy(() -> record.check("now", state(10, 3, KEPT))).hasMessageContaining("table numbers");
        assertThatThrownBy(() -> record.numbered(3)).hasMessageContaining("given once");
        assertThatThrownBy(() -> record.registered(registration(6, 9))).hasMessageContaining("given once");
        assertThatThrownBy(() -> record.registered(registration(5, 10))).hasMessageContaining("given once");
        final StoredNode node = StoredNode.spare(5, 9, 1);
        final MetaState twice = new MetaState(new MetaCounters(7, 11, 6, 1, 1, 1, 4), null, List.of(node, node),
            List.of(KEPT), List.of(), List.of(), List.of());
        assertThatThrownBy(() -> record.check("now", twice)).hasMessageContaining("registrations");
    }
}
