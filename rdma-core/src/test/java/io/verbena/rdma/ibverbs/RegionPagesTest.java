package io.verbena.rdma.ibverbs;

import io.verbena.rdma.ibverbs.library.RegionPages;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.stream.Stream;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Needs no verbs library. */
class RegionPagesTest
{
    private static final long CHUNK_BYTES = 1L << 28;

    @Test
    void shouldGiveZeroedPagesUpToTheLastWord()
    {
        try (RegionPages pages = RegionPages.map(4096 + 8))
        {
            assertThat(pages.segment().address() % 4096).isZero();
            assertThat(pages.segment().byteSize()).isEqualTo(4096 + 8);
            assertThat(pages.segment().mismatch(MemorySegment.ofArray(new byte[4096 + 8]))).isEqualTo(-1);
            pages.segment().set(JAVA_LONG, 4096, 7);
        }
    }

    /** Pages that nobody touches take no memory. */
    @Test
    void shouldGiveMoreThanTheLimitForDirectMemory()
    {
        final List<RegionPages> regions = Stream.generate(() -> RegionPages.map(CHUNK_BYTES))
            .limit(Runtime.getRuntime().maxMemory() / CHUNK_BYTES + 2).toList();
        assertThat(regions).doesNotContainNull();
        regions.getLast().segment().set(JAVA_LONG, CHUNK_BYTES - 8, 7);
        regions.forEach(RegionPages::close);
    }

    @Test
    void shouldSayWhenThereIsNoMemoryAndLetNobodyUseWhatIsClosed()
    {
        assertThat(RegionPages.map(1L << 50)).isNull();
        final RegionPages pages = RegionPages.map(8);
        pages.close();
        assertThatThrownBy(() -> pages.segment().get(JAVA_LONG, 0)).isInstanceOf(IllegalStateException.class);
    }
}
