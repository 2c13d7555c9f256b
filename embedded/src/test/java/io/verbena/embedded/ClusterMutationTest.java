package io.verbena.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.compute.LateLookups;
import io.verbena.compute.maintenance.ReclaimMutation;
import io.verbena.memory.MemoryMutation;
import io.verbena.test.Mutation;

import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each mutation of nodes can be made, and ends. What it then does show the tests that use it. */
class ClusterMutationTest
{
    static Stream<Mutation> mutations()
    {
        return Stream.of(
            Stream.of(ReclaimMutation.values()).map(ReclaimMutation::mutation),
            Stream.of(MemoryMutation.values()).map(MemoryMutation::mutation),
            Stream.of(LateLookups.SLOW_LOOKS, LateLookups.LATE_LOOKS, LateLookups.SLOW_CATALOG)).flatMap(one -> one);
    }

    @ParameterizedTest
    @MethodSource("mutations")
    void shouldBeMadeAndEnd(final Mutation mutation)
    {
        for (int i = 0; i < 2; i++)
        {
            try (Mutation.Opened opened = mutation.open())
            {
                assertThat(opened).isNotNull();
            }
        }
    }
}
