package io.verbena.compute;

import io.verbena.protocol.message.TableEntry;
import io.verbena.raas.directory.NamedRecord;
import io.verbena.raas.directory.PeerListing;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** The tables that a node opens while it joins. */
class FirstTablesTest
{
    private final MetaRig rig = new MetaRig();

    private List<TableEntry> found()
    {
        final PeerListing listing = rig.link.directory().list(0, MetaRig.TIMEOUT_NS);
        rig.runUntil(() -> PeerListing.State.PENDING != listing.state());
        assertThat(listing.failure()).isEmpty();
        return FirstTables.of(listing);
    }

    @AfterEach
    void close()
    {
        rig.close();
    }

    @Test
    void shouldTakeNumberNameAndDescriptorOfEach()
    {
        rig.view.publish(new NamedRecord(8, "users", new byte[]{1, 2}));
        rig.view.publish(new NamedRecord(9, "orders", new byte[]{3}));
        final List<TableEntry> tables = found();
        assertThat(tables).extracting(TableEntry::name).containsExactly("orders", "users");
        assertThat(tables).extracting(TableEntry::tableId).containsExactly(9, 8);
        assertThat(tables.getLast().descriptor()).containsExactly(1, 2);
        assertThat(rig.count("tables") + rig.count("table")).as("calls").isZero();
    }

    @Test
    void shouldTakeNoMoreThanTheFirst64()
    {
        for (int i = 100; i < 165; i++)
        {
            assertThat(rig.view.publish(new NamedRecord(i, "t" + i, new byte[1]))).isTrue();
        }
        assertThat(found()).hasSize(64).extracting(TableEntry::name).contains("t163").doesNotContain("t164");
    }

    @Test
    void shouldTakeNothingWhereThereIsNothing()
    {
        assertThat(found()).isEmpty();
    }
}
