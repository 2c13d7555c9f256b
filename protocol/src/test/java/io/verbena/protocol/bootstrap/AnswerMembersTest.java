package io.verbena.protocol.bootstrap;

import io.verbena.raas.PeerAddress;
import io.verbena.rdma.verbs.DeviceAddress;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The members that an answer names. */
class AnswerMembersTest
{
    private static final BootstrapAnswer ANSWER =
        new BootstrapAnswer(4, "soft:/dev/shm/ä", new PeerAddress(new DeviceAddress(1, 2, 3), 65_535, 0, 0));

    private static BootstrapAnswer decoded(final byte[] bytes)
    {
        return BootstrapDescriptor.decodeAnswer(BootstrapDescriptor.wrap(bytes));
    }

    /** An answer with this text in the place of its list. */
    private static byte[] saying(final String text)
    {
        final byte[] answer = BootstrapDescriptor.answer(ANSWER);
        final byte[] list = text.getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(answer.length + list.length).put(answer).put(list).array();
    }

    @Test
    void shouldReadTheMembersThatWereWritten()
    {
        for (final String group : List.of("a:1", "a.example:7373,10.0.0.7:1,[fd00::7]:65535"))
        {
            final BootstrapAnswer named = ANSWER.withMembers(ClusterAddress.parse(group).all());
            assertThat(decoded(BootstrapDescriptor.answer(named))).isEqualTo(named);
        }
        assertThat(decoded(BootstrapDescriptor.answer(ANSWER))).isEqualTo(ANSWER);
    }

    @Test
    void shouldNameAsManyAsItMayAndTakeNoMore()
    {
        final List<ClusterAddress> most = Collections.nCopies(BootstrapAnswer.MAX_MEMBERS, new ClusterAddress("a", 1));
        final List<ClusterAddress> more =
            Collections.nCopies(BootstrapAnswer.MAX_MEMBERS + 1, new ClusterAddress("a", 1));
        assertThat(ANSWER.withMembers(most).members()).isEqualTo(most);
        assertThat(ANSWER.withMembers(more).members()).isEqualTo(most);
        assertThat(decoded(saying("a:1" + ",a:1".repeat(BootstrapAnswer.MAX_MEMBERS - 1))).members()).isEqualTo(most);
        assertThatThrownBy(() -> decoded(saying("a:1" + ",a:1".repeat(BootstrapAnswer.MAX_MEMBERS))))
            .isInstanceOf(IllegalArgumentException.class).hasMessage("its list of meta servers cannot be read");
    }

    @ParameterizedTest
    @ValueSource(strings = {",", "a:1,", "a:0", "a:70000", "a b:1", "http://a:1", "a:1/x", "\0"})
    void shouldRefuseAListWithWhatIsNoAddress(final String text)
    {
        assertThatThrownBy(() -> decoded(saying(text))).isInstanceOf(IllegalArgumentException.class)
            .hasMessage("its list of meta servers cannot be read");
    }

    @Test
    void shouldRefuseAnAnswerThatIsShorterThanItSays()
    {
        final byte[] answer = BootstrapDescriptor.answer(ANSWER);
        assertThatThrownBy(() -> decoded(Arrays.copyOf(answer, answer.length - 1)))
            .isInstanceOf(IllegalArgumentException.class).hasMessage("its answer is too short");
    }
}
