package io.verbena.raas.message;

import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

class MessageCreditsTest
{
    /** Whatever is delayed: no more than two messages with credits are under way; none is without a receive. */
    @Test
    void shouldHaveNoMoreThanTwoMessagesWithCreditsUnderWay()
    {
        final Random random = new Random(5);
        for (int credits = 1; credits <= 9; credits++)
        {
            final MessageCredits receiver = new MessageCredits(credits);
            final MessageCredits sender = new MessageCredits(1);
            sender.open(credits);
            final ArrayDeque<Integer> messages = new ArrayDeque<>();
            int kept = 0;
            int returns = 0;
            int mostReturns = 0;
            for (int step = 0; step < 20_000; step++)
            {
                switch (random.nextInt(4))
                {
                    case 0 ->
                    {
                        if (sender.toSend() > 0)
                        {
                            sender.onSent();
                            messages.add(step);
                        }
                    }
                    case 1 ->
                    {
                        if (messages.poll() != null)
                        {
                            assertThat(receiver.onArrived()).isTrue();
                            kept++;
                        }
                    }
                    case 2 ->
                    {
                        if (kept > 0)
                        {
                            kept--;
                            returns += receiver.onConsumed() ? 1 : 0;
                        }
                    }
                    default ->
                    {
                        if (returns > 0 && random.nextInt(3) == 0)
                        {
                            returns--;
                            assertThat(sender.onReturned()).isTrue();
                        }
                    }
                }
                assertThat(kept + messages.size()).isLessThanOrEqualTo(credits);
                mostReturns = Math.max(mostReturns, returns);
            }
            assertThat(mostReturns).as("of %s credits", credits).isBetween(1, MessageCredits.CONTROL_RECEIVES - 1);
        }
    }

    @Test
    void shouldNoticeMoreThanWasGiven()
    {
        final MessageCredits credits = new MessageCredits(2);
        assertThat(credits.onArrived()).isTrue();
        assertThat(credits.onArrived()).isTrue();
        assertThat(credits.onArrived()).isFalse();
        credits.open(2);
        assertThat(credits.onReturned()).isFalse();
    }
}
