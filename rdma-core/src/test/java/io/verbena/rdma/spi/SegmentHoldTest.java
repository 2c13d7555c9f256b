package io.verbena.rdma.spi;

import io.verbena.rdma.verbs.RdmaException;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Memory that may be registered many times is kept by one thread, until the last registration is closed. */
class SegmentHoldTest
{
    private static long threads()
    {
        return Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().equals("verbena-segment-hold")).count();
    }

    @Test
    void shouldKeepAnArenaByOneThreadUntilTheLastHoldIsClosed()
    {
        final long before = threads();
        final Arena arena = Arena.ofShared();
        final MemorySegment segment = arena.allocate(4096);
        final List<SegmentHold> holds = new ArrayList<>();
        for (int i = 0; i < 100; i++)
        {
            holds.add(SegmentHold.of(segment.asSlice(i, 8)));
        }
        assertThat(threads() - before).isEqualTo(1);
        final SegmentHold last = holds.removeLast();
        holds.forEach(SegmentHold::close);
        holds.forEach(SegmentHold::close);
        assertThatThrownBy(arena::close).isInstanceOf(IllegalStateException.class);
        last.close();
        assertThat(threads()).isEqualTo(before);
        arena.close();
    }

    @Test
    void shouldKeepEachArenaByItself()
    {
        final Arena first = Arena.ofShared();
        final Arena second = Arena.ofShared();
        try (SegmentHold _ = SegmentHold.of(first.allocate(8)))
        {
            SegmentHold.of(second.allocate(8)).close();
            second.close();
            assertThatThrownBy(first::close).isInstanceOf(IllegalStateException.class);
        }
        first.close();
    }

    @Test
    void shouldHoldAnewAfterTheLastHoldWasClosed()
    {
        final Arena arena = Arena.ofShared();
        final MemorySegment segment = arena.allocate(8);
        SegmentHold.of(segment).close();
        try (SegmentHold _ = SegmentHold.of(segment))
        {
            assertThatThrownBy(arena::close).isInstanceOf(IllegalStateException.class);
        }
        arena.close();
        assertThatThrownBy(() -> SegmentHold.of(segment)).isInstanceOf(RdmaException.class);
    }
}
