package io.verbena.compute.control;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class CreationSlotTest
{
    private final CreationSlot slot = new CreationSlot();
    private final Object first = new Object();
    private final Object second = new Object();

    @Test
    void shouldBeHadByOneCreationAtATime()
    {
        assertThat(slot.tryTake(first)).isTrue();
        assertThat(slot.tryTake(second)).isFalse();
        assertThat(slot.tryTake(first)).as("again").isTrue();
        slot.giveBack(second);
        assertThat(slot.tryTake(second)).as("given back by one that had it not").isFalse();
        slot.giveBack(first);
        assertThat(slot.tryTake(second)).isTrue();
        assertThat(slot.tryTake(first)).isFalse();
    }
}
