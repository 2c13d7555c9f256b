package io.verbena.table;

import io.verbena.table.directory.OpenTable;
import io.verbena.table.operation.OperationKind;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Buckets are fetched beforehand where that is worth it: while operations know no locations. */
class EnginePreloadTest
{
    private static final int UNKNOWN_IN_A_ROW = 4;

    @Test
    void shouldPreloadBucketsWhileLocationsAreUnknown()
    {
        try (EngineFixture fixture = EngineFixture.single())
        {
            final OpenTable table = fixture.createTable(0, 8);
            for (int i = 0; i < UNKNOWN_IN_A_ROW; i++)
            {
                fixture.run(OperationKind.PUT, table, "key" + i, "v", 0);
            }
            assertThat(fixture.port.preloads).isZero();

            fixture.run(OperationKind.GET, table, "absent", null, 0);
            final int afterUnknown = fixture.port.preloads;
            assertThat(afterUnknown).isBetween(1, 2);
            fixture.run(OperationKind.GET, table, "key0", null, 0);
            final int afterKnown = fixture.port.preloads;
            assertThat(fixture.outcome.roundTrips()).isEqualTo(1);
            assertThat(afterKnown - afterUnknown).isBetween(1, 2);

            fixture.run(OperationKind.GET, table, "key1", null, 0);
            fixture.run(OperationKind.GET, table, "absent", null, 0);
            assertThat(fixture.port.preloads).isEqualTo(afterKnown);
        }
    }
}
