package io.verbena.raas;

import io.verbena.raas.identity.PeerIdentity;
import io.verbena.raas.limit.RaasMisuseException;
import io.verbena.raas.message.MessageCredits;
import io.verbena.raas.message.MessageOptions;
import io.verbena.raas.message.MessageState;
import io.verbena.rdma.verbs.PostStatus;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Messages of tenants who share a queue pair. */
class MessageTenantsTest extends TenantFixture
{
    private static final int CREDITS = 8;
    private static final int RECEIVES = CREDITS + MessageCredits.CONTROL_RECEIVES;

    private final List<MessageRecorder> accepted = new ArrayList<>();

    private void open(final TenantOptions forGreedy, final RaasConfiguration forClient)
    {
        open(new PeerIdentity(1, 1), forClient.messageReceives(8 * RECEIVES), forGreedy, new TenantOptions());
        MessageEndpoint.accept(pair.rpcServer, (identity, service, mine) ->
        {
            mine.credits(CREDITS);
            accepted.add(new MessageRecorder());
            return accepted.getLast();
        });
    }

    private MessageEndpoint begin(final Tenant tenant, final MessageRecorder recorder)
    {
        final MessageEndpoint endpoint = MessageEndpoint.open(pair.client, tenant, pair.peer(),
            new MessageOptions().credits(CREDITS), recorder, SoftPair.TIMEOUT_NS);
        pair.runUntil(() -> endpoint.state() != MessageState.OPENING);
        return endpoint;
    }

    @Test
    void shouldOpenNoMoreThanTheReceivesOfATenant()
    {
        open(new TenantOptions().receives(2 * RECEIVES), new RaasConfiguration());
        for (int round = 0; round < 5; round++)
        {
            final MessageEndpoint first = begin(greedy, new MessageRecorder());
            final MessageEndpoint second = begin(greedy, new MessageRecorder());
            assertThat(second.state()).isEqualTo(MessageState.OPEN);
            final MessageRecorder refused = new MessageRecorder();
            final MessageEndpoint third = begin(greedy, refused);
            pair.runUntil(() -> refused.ended.size() == 1);
            assertThat(third.failure()).contains("tenant 'greedy' has " + 2 * RECEIVES)
                .contains("TenantOptions.receives");
            final MessageEndpoint others = begin(quiet, new MessageRecorder());
            assertThat(others.state()).isEqualTo(MessageState.OPEN);
            assertThat(greedy.usage().refusals()).isEqualTo(round + 1);
            List.of(first, second, third, others).forEach(MessageEndpoint::close);
            pair.runUntil(() -> pair.client.usage().messages().endpoints() == 0);
        }
        assertThatThrownBy(() -> pair.client.tenant("none", new TenantOptions().receives(0)))
            .isInstanceOf(RaasMisuseException.class).hasMessageContaining("TenantOptions.receives is 0");
    }

    @Test
    void shouldPostMessagesInTheTurnOfTheirTenant()
    {
        open(new TenantOptions(), new RaasConfiguration().sharedWindowBytes(4096));
        final MessageRecorder recorder = new MessageRecorder();
        final MessageEndpoint end = begin(quiet, recorder);
        readOften(greedyQp, 40, BLOCK);
        for (int i = 0; i < CREDITS; i++)
        {
            assertThat(end.send(quietMemory, 0, 64, i)).isEqualTo(PostStatus.OK);
        }
        assertThat(recorder.sent).isEmpty();
        pair.runUntil(() -> recorder.sent.size() == CREDITS);
        assertThat(greedyDone.cookies().size()).as("READs done before a few small messages").isLessThan(20);
        assertThat(recorder.sent).isEqualTo(upTo(CREDITS));
        assertThat(quiet.usage().waitedBatches()).isPositive();
        pair.runUntil(() -> accepted.getLast().values.size() == CREDITS);
    }
}
