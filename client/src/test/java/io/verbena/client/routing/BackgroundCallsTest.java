package io.verbena.client.routing;

import io.verbena.client.KvClosedException;
import io.verbena.client.KvCorruptException;
import io.verbena.client.KvUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Calls of several steps on threads of their own: bounded, and always answered. */
@Timeout(30)
class BackgroundCallsTest
{
    @Test
    void shouldRunOnAnotherThreadAndCompleteByTheExecutor()
    {
        final AtomicInteger completions = new AtomicInteger();
        final BackgroundCalls calls = new BackgroundCalls((task) ->
        {
            completions.incrementAndGet();
            task.run();
        }, 1);

        assertThat(calls.run(Thread::currentThread).join()).isNotEqualTo(Thread.currentThread())
            .matches(Thread::isVirtual);
        assertThat(completions).hasValue(1);
    }

    @Test
    void shouldFailWithWhatTheCallThrewAsDirectCause()
    {
        final BackgroundCalls calls = new BackgroundCalls(Runnable::run, 1);
        for (final Throwable thrown : new Throwable[]{new KvCorruptException("x"), new AssertionError("y")})
        {
            final CompletableFuture<Object> future = calls.run(() ->
            {
                if (thrown instanceof final Error error)
                {
                    throw error;
                }
                throw (RuntimeException)thrown;
            });
            assertThatThrownBy(future::join).isInstanceOf(CompletionException.class).cause().isSameAs(thrown);
        }
    }

    @Test
    void shouldRefuseOneCallMoreThanTheLimitAndTakeOneWhenAnotherHasEnded()
    {
        final BackgroundCalls calls = new BackgroundCalls(Runnable::run, 2);
        final CompletableFuture<String> gate = new CompletableFuture<>();
        final CompletableFuture<String> first = calls.run(gate::join);
        final CompletableFuture<String> second = calls.run(gate::join);

        assertThatThrownBy(calls.run(() -> "third")::join).cause().isInstanceOf(KvUnavailableException.class)
            .hasMessageContaining("maxAsyncInFlight=2");
        gate.complete("done");
        assertThat(first.join() + second.join()).isEqualTo("donedone");
        assertThat(calls.run(() -> "fourth").join()).isEqualTo("fourth");
    }

    @Test
    void shouldCompleteThoughTheExecutorRefuses()
    {
        final BackgroundCalls calls = new BackgroundCalls((task) ->
        {
            throw new RejectedExecutionException("shut down");
        }, 1);

        assertThat(calls.run(() -> 7).join()).isEqualTo(7);
    }

    @Test
    void shouldRefuseCallsWhenClosedAndLetOthersEnd()
    {
        final BackgroundCalls calls = new BackgroundCalls(Runnable::run, 1);
        final CompletableFuture<String> gate = new CompletableFuture<>();
        final CompletableFuture<String> running = calls.run(gate::join);

        calls.close();

        assertThatThrownBy(() -> calls.run(() -> 1)).isInstanceOf(KvClosedException.class);
        gate.complete("ends");
        assertThat(running.join()).isEqualTo("ends");
    }
}
