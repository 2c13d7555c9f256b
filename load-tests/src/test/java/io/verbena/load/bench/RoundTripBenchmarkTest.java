package io.verbena.load.bench;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class RoundTripBenchmarkTest
{
    @Test
    void shouldMeasureEveryOperationWithinItsBudget() throws IOException
    {
        final List<RoundTripRow> rows = new RoundTripBenchmark().run();
        assertThat(rows).extracting(RoundTripBenchmarkTest::counts).containsExactly(
            "get cached 1 1 2",
            "get 2 2 3",
            "get_stale 2 2 3",
            "get_some_epochs_later 1 1 2",
            "get_absent 1 1 2",
            "update cached 1 1 2",
            "update 3 3 5",
            "update_stale 3 3 5",
            "update_some_epochs_later 2 2 4",
            "update_by_version cached 1 1 2",
            "update_by_version 3 3 5",
            "insert 3 3 7",
            "put_if_absent 3 3 7",
            "delete cached 1 1 1",
            "delete 3 3 4",
            "increment cached 1 1 2",
            "increment 3 3 5",
            "append cached 2 2 4",
            "append 3 3 5",
            "multi_get cached 1 1 32",
            "multi_get 2 2 48",
            "get_stale_directory_not_reached 2 2 3",
            "get_stale_directory_frozen 3 3 7",
            "get_stale_directory_moved 3 3 7",
            "get_absent_stale_directory 2 2 6",
            "get_not_moved 2 2 5",
            "get_moved 2 2 5",
            "get_moved cached 1 1 2",
            "put_not_moved 3 3 10",
            "put_not_moved_again 3 3 7",
            "insert_not_moved 4 4 69",
            "insert_not_moved_again 3 3 7",
            "put_not_moved_rehash 3 3 10",
            "put_not_moved_rehash_again 3 3 7",
            "insert_not_moved_rehash 4 4 72",
            "insert_not_moved_rehash_again 3 3 7",
            "get_stale_directory_before_merge 2 2 3",
            "get_stale_directory_merged 3 3 7",
            "get_absent_stale_merged 2 2 6",
            "get_not_merged 3 3 7",
            "put_not_merged 9 9 83",
            "put_not_merged_again 3 3 5",
            "insert_not_merged 15 15 163",
            "insert_not_merged_again 3 3 5",
            "get_merged 2 2 3",
            "get_merged cached 1 1 2");
        assertThat(rows).allMatch(RoundTripRow::isWithinBudget);
        assertThat(rows).allMatch(row -> row.bytesOnWire() >= 8 * row.verbs());
        // A block of 180 bytes is read whole as 192, its slot as 8.
        assertThat(rows.get(0).bytesOnWire()).isEqualTo(200);
        assertThat(rows.get(0).fields().keySet()).containsExactly(
            "operation", "cached", "round_trips", "doorbells", "verbs", "bytes_on_wire");
    }

    @Test
    void shouldMeasureTablesWithCopies() throws IOException
    {
        assertThat(of(2)).containsExactly("get cached 1 1 2", "get 2 2 3", "get_absent 1 1 2", "update cached 2 3 4",
            "update 4 5 7", "update_by_version cached 2 3 4", "update_by_version 4 5 7", "insert 4 5 9",
            "put_if_absent 4 5 9", "delete cached 2 2 2", "delete 4 4 5", "increment cached 2 3 4",
            "increment 4 5 7", "append cached 3 4 6", "append 4 5 7");
        assertThat(of(3)).containsExactly("get cached 1 1 2", "get 2 2 3", "get_absent 1 1 2", "update cached 2 4 6",
            "update 4 6 9", "update_by_version cached 2 4 6", "update_by_version 4 6 9", "insert 4 7 11",
            "put_if_absent 4 7 11", "delete cached 2 3 3", "delete 4 5 6", "increment cached 2 4 6",
            "increment 4 6 9", "append cached 3 5 8", "append 4 6 9");
    }

    private static List<String> of(final int copies) throws IOException
    {
        final List<RoundTripRow> rows = new RoundTripBenchmark(copies).run();
        assertThat(rows).allMatch(RoundTripRow::isWithinBudget);
        return rows.stream().map(RoundTripBenchmarkTest::counts).toList();
    }

    private static String counts(final RoundTripRow row)
    {
        return row.operation() + (row.isCached() ? " cached " : " ") + row.roundTrips() + " " + row.doorbells() + " " +
            row.verbs();
    }

    @Test
    void shouldSayWhenTheBudgetIsExceeded()
    {
        assertThat(new RoundTripRow("get", true, 2, 2, 3, 1, 1).isWithinBudget()).isFalse();
    }
}
