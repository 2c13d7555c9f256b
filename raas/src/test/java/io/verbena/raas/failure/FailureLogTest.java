package io.verbena.raas.failure;

import io.verbena.rdma.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class FailureLogTest
{
    private final List<String> lines = new ArrayList<>();
    private long nowNs = Long.MAX_VALUE - 10;

    @Test
    void shouldCountAllAndLogOneEachSecond()
    {
        final FailureLog log = new FailureLog((line, cause) -> lines.add(line + cause), () -> nowNs, "planted");
        for (int i = 0; i < 100; i++)
        {
            log.add(i, null);
        }
        nowNs += FailureLog.PAUSE_NS - 1;
        log.add("early", null);
        nowNs++;
        log.add("due", null);
        assertThat(log.count()).isEqualTo(102);
        assertThat(lines).containsExactly("planted, and 0 since the last such line: 0null",
            "planted, and 100 since the last such line: duenull");
    }

    /** A peer that goes while it is accepted is no request that failed. */
    @Test
    void shouldCountRequestsOnly()
    {
        final PeerFailures failures = new PeerFailures((line, cause) -> lines.add(line), () -> nowNs);
        failures.onError(new RdmaException("gone"));
        failures.onError(new IllegalStateException("planted"));
        assertThat(failures.requestCount()).isEqualTo(1);
        assertThat(lines).containsExactly("a peer's connection failed, and 0 since the last such line: gone",
            "a request failed unexpectedly, and 0 since the last such line: planted");
    }
}
