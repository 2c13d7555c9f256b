package io.verbena.cli.table;

import io.verbena.protocol.view.View;
import io.verbena.raas.identity.PeerIdentity;
import io.verbena.table.directory.TablePlan;
import io.verbena.table.format.TableDescriptor;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** Where a table is follows from its directory and from the views of groups. */
class TablePlacesTest
{
    private static final int CHUNK_BYTES = 256 << 10;
    private static final View VIEW =
        View.first(10, List.of(new PeerIdentity(3, 1), new PeerIdentity(1, 2), new PeerIdentity(2, 3)));

    private static TableDescriptor table(final int... ids)
    {
        final TablePlan plan = TablePlan.forRecords("t", 1, 7, 100_000, ids, CHUNK_BYTES);
        for (int i = 0; i < plan.subtableCount(); i++)
        {
            plan.place(ids[i % ids.length], (long)(i + 1) * CHUNK_BYTES);
        }
        return plan.descriptor();
    }

    @Test
    void shouldBeOnEachMemoryNodeThatItNames()
    {
        final TablePlaces places = TablePlaces.of(table(1, 2), Map.of(10, VIEW));
        assertThat(places).isEqualTo(new TablePlaces(1, List.of(1, 2), List.of()));
        assertThat(places.text()).isEqualTo("1, 2");
    }

    @Test
    void shouldBeOnTheMembersOfItsGroup()
    {
        final TablePlaces places = TablePlaces.of(table(10), Map.of(10, VIEW));
        assertThat(places).isEqualTo(new TablePlaces(3, List.of(1, 2, 3), List.of(10)));
        assertThat(places.text()).isEqualTo("1, 2, 3 (group 10)");
        assertThat(places.figures()).isEqualTo(
            Map.of("copies", 3, "memory_nodes", List.of(1, 2, 3), "memory_groups", List.of(10)));
    }

    @Test
    void shouldHaveTheFewestCopiesOfItsPartsWithoutTheLostOnes()
    {
        final View closing = VIEW.closing(1, PeerIdentity.UNREGISTERED);
        final View other = View.first(11, List.of(new PeerIdentity(1, 2), new PeerIdentity(4, 5)))
            .closing(1, PeerIdentity.UNREGISTERED);
        assertThat(TablePlaces.of(table(10, 11), Map.of(10, closing, 11, other)))
            .isEqualTo(new TablePlaces(1, List.of(1, 2, 4), List.of(10, 11)));
        assertThat(new TablePlaces(1, List.of(1, 2, 4), List.of(10, 11)).text()).isEqualTo("1, 2, 4 (groups 10, 11)");
    }
}
