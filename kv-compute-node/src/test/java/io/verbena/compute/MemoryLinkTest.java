package io.verbena.compute;

import io.verbena.rdma.verbs.WorkCompletionStatus;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class MemoryLinkTest
{
    @Test
    void shouldNotCountWhatWasReadOverDcWhenTheLeaseIsOver()
    {
        assertThat(MemoryLink.counted(false, WorkCompletionStatus.SUCCESS, () -> false))
            .isEqualTo(WorkCompletionStatus.WR_FLUSH_ERR);
        assertThat(MemoryLink.counted(false, WorkCompletionStatus.SUCCESS, () -> true))
            .isEqualTo(WorkCompletionStatus.SUCCESS);
    }

    @Test
    void shouldAskForTheLeaseOnlyAfterReadsOverDc()
    {
        assertThat(MemoryLink.counted(true, WorkCompletionStatus.SUCCESS, () ->
        {
            throw new AssertionError("a queue pair is closed when its node is fenced");
        })).isEqualTo(WorkCompletionStatus.SUCCESS);
        assertThat(MemoryLink.counted(false, WorkCompletionStatus.RETRY_EXC_ERR, () -> false))
            .isEqualTo(WorkCompletionStatus.RETRY_EXC_ERR);
    }
}
