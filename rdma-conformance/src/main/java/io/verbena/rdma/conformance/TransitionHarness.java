package io.verbena.rdma.conformance;

import io.verbena.rdma.verbs.QueuePair;
import io.verbena.rdma.verbs.QueuePairAttributes;
import io.verbena.rdma.verbs.QueuePairState;
import io.verbena.rdma.verbs.RdmaException;
import io.verbena.rdma.verbs.UnsupportedVerbException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Assertions about transitions that must not happen. */
abstract class TransitionHarness extends VerbsHarness
{
    /** Each required attribute missing in turn: refused, and the state stays. */
    protected final void assertNeedsEach(final QueuePair queuePair, final QueuePairAttributes complete)
    {
        final QueuePairState before = queuePair.state();
        for (int bit = 1; bit < Integer.SIZE; bit++)
        {
            final int attribute = 1 << bit;
            if (complete.has(attribute))
            {
                assertChangesNothing(queuePair, QueuePairSteps.without(complete, attribute));
            }
        }
        assertThat(queuePair.state()).isEqualTo(before);
    }

    protected final void assertChangesNothing(final QueuePair queuePair, final QueuePairAttributes attributes)
    {
        final QueuePairState before = queuePair.state();
        final QueuePairAttributes valuesBefore = new QueuePairAttributes();
        queuePair.query(valuesBefore);
        assertThatThrownBy(() -> queuePair.modify(attributes)).as("mask=%x", attributes.mask())
            .isInstanceOf(RdmaException.class).isNotInstanceOf(UnsupportedVerbException.class);
        assertThat(queuePair.state()).isEqualTo(before);
        final QueuePairAttributes valuesAfter = new QueuePairAttributes();
        queuePair.query(valuesAfter);
        assertThat(valuesAfter).usingRecursiveComparison().isEqualTo(valuesBefore);
    }
}
