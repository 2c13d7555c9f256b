package io.verbena.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.table.directory.GrowthSource;
import io.verbena.table.directory.OpenTable;
import io.verbena.table.directory.Subtable;
import io.verbena.table.operation.OperationKind;
import io.verbena.table.operation.OperationResult;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When an engine asks for a split. */
class SplitRequestTest
{
    private static final class Requests implements GrowthSource
    {
        private final List<Subtable> subtables = new ArrayList<>();

        @Override
        public boolean requestSplit(final OpenTable table, final Subtable subtable)
        {
            subtables.add(subtable);
            return false;
        }

        @Override
        public void onSplitMet(final OpenTable table, final Subtable subtable)
        {
            throw new AssertionError("nothing is split");
        }
    }

    private final Requests requests = new Requests();

    @Test
    void shouldAskWhenASubtableFillsUp()
    {
        try (EngineFixture fixture = EngineFixture.single(settings -> settings.growthSource(requests)))
        {
            final OpenTable table = fixture.createTable(0, 16);
            int records = 0;
            while (requests.subtables.isEmpty())
            {
                fixture.put(table, "key-" + records++, "v");
            }
            assertThat(records).isBetween(150, 336);
        }
    }

    /** The marks of deletes fill the buckets of a key that comes and goes, and make room for it. */
    @Test
    void shouldNotAskForTheMarksOfDeletes()
    {
        try (EngineFixture fixture = EngineFixture.single(settings -> settings.growthSource(requests)))
        {
            final OpenTable table = fixture.createTable(0, 16);
            for (int i = 0; i < 500; i++)
            {
                assertThat(fixture.put(table, "key", "v").result()).isEqualTo(OperationResult.STORED);
                assertThat(fixture.run(OperationKind.DELETE, table, "key", null, 0).result())
                    .isEqualTo(OperationResult.DELETED);
            }
            assertThat(requests.subtables).isEmpty();
        }
    }
}
