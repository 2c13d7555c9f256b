package io.verbena.table.mirror;

import io.verbena.raas.OneSidedPort;
import io.verbena.table.access.Scratch;
import io.verbena.table.access.SlotRound;
import io.verbena.table.format.SizeClasses;
import io.verbena.table.format.SlotWord;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The round of a slot over the members of a mirror group, step by step. The word at the primary names the round. The
 * swap at the head decides it; then what stands on the middle is made to agree; the swap at the primary commits.
 * Whoever loses, or meets a decision that is not committed, finishes it. See decision 0019.
 *
 * <p>Everything is proposed on a word that was seen at the primary, and no word comes back. So while the primary holds
 * it, the head holds it as well, or one word proposed on it, and the middle holds it or words proposed on it.
 */
final class MirrorRound
{
    /** Words of each request for what members answer. */
    static final int RESULT_BYTES = 4 * Long.BYTES;
    static final int MOST_MEMBERS = 3;

    private static final int HEAD_AT = 0;
    private static final int MIDDLE_AT = 8;
    private static final int PRIMARY_AT = 16;
    private static final int UNUSED_AT = 24;
    private static final int HEAD = 0;
    private static final ValueLayout.OfLong WORD =
        ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    final OneSidedPort[] members;
    private final Scratch scratch;
    private final int blockAt;
    private final int primary;
    /** The request whose block is in memory; one at a time. */
    private MirrorRequest helped;
    long committed;
    long lost;
    long finished;

    /** @param blockAt of the scratch memory, where the block of a decision is kept. */
    MirrorRound(final OneSidedPort[] members, final Scratch scratch, final int blockAt)
    {
        this.members = members;
        this.scratch = scratch;
        this.blockAt = blockAt;
        primary = members.length - 1;
    }

    private boolean hasMiddle()
    {
        return members.length == MOST_MEMBERS;
    }

    /** @return member that READs go to: what it holds is on all others. */
    int readMember()
    {
        return primary;
    }

    /** Stages the next requests of a request. @return false: it has to wait for another one. */
    boolean stage(final MirrorRequest request)
    {
        if (!request.isRound())
        {
            stageAccess(request);
            return true;
        }
        switch (request.step)
        {
            case MirrorRequest.START -> stageFirst(request);
            case MirrorRequest.DECIDE_AT_HEAD -> swap(HEAD, request, HEAD_AT, request.atHead, request.proposed);
            case MirrorRequest.CHECK -> read(primary, request, PRIMARY_AT);
            case MirrorRequest.COMPARE ->
            {
                read(HEAD, request, HEAD_AT);
                if (hasMiddle())
                {
                    read(1, request, MIDDLE_AT);
                }
            }
            case MirrorRequest.FETCH ->
            {
                if (helped != null && helped != request)
                {
                    return false;
                }
                helped = request;
                members[HEAD].read(scratch.region, blockAt, blockBytes(request), SlotWord.blockOffset(
                    request.decision));
            }
            case MirrorRequest.REPAIR ->
            {
                writeBlock(1, request);
                swap(1, request, MIDDLE_AT, request.atMiddle, request.decision);
            }
            default ->
            {
                writeBlock(primary, request);
                swap(primary, request, UNUSED_AT, request.base, request.decision);
            }
        }
        return true;
    }

    /** @return whether what was staged for a request goes to a member. */
    boolean uses(final MirrorRequest request, final int member)
    {
        if (!request.isRound())
        {
            return request.kind == MirrorRequest.WRITE ||
                member == request.member;
        }
        return switch (request.step)
        {
            case MirrorRequest.START -> member == (request.kind == MirrorRequest.CLAIM ? HEAD : primary);
            case MirrorRequest.DECIDE, MirrorRequest.COMPARE -> member != primary;
            case MirrorRequest.DECIDE_AT_HEAD, MirrorRequest.FETCH -> member == HEAD;
            case MirrorRequest.REPAIR -> member == 1;
            default -> member == primary;
        };
    }

    /** Stages a READ, or a WRITE at all members. */
    void stageAccess(final MirrorRequest request)
    {
        if (request.kind == MirrorRequest.WRITE)
        {
            for (final OneSidedPort member : members)
            {
                member.write(request.local, request.localOffset, request.lengthBytes, request.offset);
            }
            return;
        }
        final OneSidedPort member = members[request.member];
        if (request.isFenced)
        {
            member.fenceNext();
        }
        member.read(request.local, request.localOffset, request.lengthBytes, request.offset);
    }

    private void stageFirst(final MirrorRequest request)
    {
        switch (request.kind)
        {
            case MirrorRequest.CLAIM -> SlotRound.propose(members[HEAD], request.local, request.localOffset,
                request.offset, request.expected, request.proposed);
            case MirrorRequest.PROPOSE ->
            {
                request.step = MirrorRequest.DECIDE;
                swap(HEAD, request, HEAD_AT, request.atHead, request.proposed);
                if (hasMiddle())
                {
                    swap(1, request, MIDDLE_AT, request.base, request.proposed);
                }
            }
            default -> read(primary, request, PRIMARY_AT);
        }
    }

    private void swap(
        final int member, final MirrorRequest request, final int at, final long expected, final long desired)
    {
        SlotRound.propose(members[member], scratch.region, resultAt(request) + at, request.offset, expected, desired);
    }

    private void read(final int member, final MirrorRequest request, final int at)
    {
        members[member].read(scratch.region, resultAt(request) + at, Long.BYTES, request.offset);
    }

    /** Whoever decided may have died before the block had reached this member. */
    private void writeBlock(final int member, final MirrorRequest request)
    {
        if (request.holdsBlock)
        {
            members[member].write(scratch.region, blockAt, blockBytes(request), SlotWord.blockOffset(
                request.decision));
        }
    }

    private static int blockBytes(final MirrorRequest request)
    {
        return SizeClasses.lengthBytes(SlotWord.sizeClass(request.decision));
    }

    /** Who decided may have ended before its block reached the others. */
    private boolean needsBlock(final MirrorRequest request)
    {
        return request.namesBlock() &&
            SlotWord.blockOffset(request.decision) <= members[HEAD].regionLengthBytes() - blockBytes(request);
    }

    private static int resultAt(final MirrorRequest request)
    {
        return request.number * RESULT_BYTES;
    }

    private long result(final MirrorRequest request, final int at)
    {
        return scratch.word(resultAt(request) + at);
    }

    /** Takes the answers to what was staged; the request has its next step then. */
    void onAnswer(final MirrorRequest request)
    {
        switch (request.step)
        {
            case MirrorRequest.START -> onFirst(request);
            case MirrorRequest.DECIDE ->
            {
                final long middle = result(request, MIDDLE_AT);
                request.atMiddle = middle == request.base ? request.proposed : middle;
                onDecided(request, result(request, HEAD_AT));
            }
            case MirrorRequest.DECIDE_AT_HEAD ->
            {
                if (request.kind == MirrorRequest.KILL)
                {
                    onKilled(request, result(request, HEAD_AT));
                }
                else
                {
                    onDecided(request, result(request, HEAD_AT));
                }
            }
            case MirrorRequest.CHECK -> onCheck(request, result(request, PRIMARY_AT));
            case MirrorRequest.COMPARE -> onCompared(request, result(request, HEAD_AT));
            case MirrorRequest.FETCH ->
            {
                request.holdsBlock = true;
                goOn(request);
            }
            case MirrorRequest.REPAIR -> onRepaired(request, result(request, MIDDLE_AT));
            default -> over(request, request.decision);
        }
    }

    private void onFirst(final MirrorRequest request)
    {
        final long word = result(request, PRIMARY_AT);
        if (request.kind == MirrorRequest.KILL)
        {
            // Read behind the sight of the victim: what that was put on, if it stands there still.
            request.base = word;
            if (word == request.expected)
            {
                // The mark of a delete, which counts: a round like any other.
                request.kind = MirrorRequest.PROPOSE;
            }
            else if (SlotWord.isEmpty(word))
            {
                request.step = MirrorRequest.DECIDE_AT_HEAD;
            }
            else
            {
                // No claim: a delete that is decided, or the claim was committed meanwhile.
                finish(request, SlotWord.UNINITIALISED);
            }
        }
        else if (request.kind == MirrorRequest.SETTLE)
        {
            request.base = word;
            request.step = MirrorRequest.COMPARE;
        }
        else
        {
            request.step = MirrorRequest.DONE;
        }
    }

    private void onDecided(final MirrorRequest request, final long found)
    {
        if (found == request.atHead)
        {
            request.hasWon = true;
            request.decision = request.proposed;
            request.step = isMiddleEqual(request) ? MirrorRequest.PUBLISH : MirrorRequest.CHECK;
        }
        else
        {
            onLost(request, found);
        }
    }

    /** Before the round is over, the own word may stand on the middle, and become the value when others are lost. */
    private void onLost(final MirrorRequest request, final long found)
    {
        request.atHead = found;
        request.step = MirrorRequest.CHECK;
    }

    private boolean isMiddleEqual(final MirrorRequest request)
    {
        return !hasMiddle() || request.atMiddle == request.decision;
    }

    private void onKilled(final MirrorRequest request, final long found)
    {
        if (found == request.atHead)
        {
            request.hasWon = true;
            request.atMiddle = request.base;
            afterKill(request);
        }
        else
        {
            // Withdrawn is as good as dead. What somebody else has decided may not be committed.
            finish(request, found == request.base ? found : SlotWord.UNINITIALISED);
        }
    }

    /** The victim may have posted its commit, which must not find there what it expects. */
    private void afterKill(final MirrorRequest request)
    {
        goOn(request);
    }

    private void onCheck(final MirrorRequest request, final long atPrimary)
    {
        if (isOver(request, atPrimary))
        {
            over(request, atPrimary);
        }
        else if (request.hasWon)
        {
            goOn(request);
        }
        else if (request.isClaimed(request.atHead))
        {
            // Decides nothing: who expects the word that counts proposes over it, who lost the own claim has lost.
            if (request.kind == MirrorRequest.PROPOSE && request.expected == request.base)
            {
                request.step = MirrorRequest.DECIDE_AT_HEAD;
            }
            else
            {
                finish(request, request.atHead);
            }
        }
        else
        {
            finished++;
            request.decision = request.atHead;
            if (needsBlock(request))
            {
                request.step = MirrorRequest.FETCH;
            }
            else
            {
                goOn(request);
            }
        }
    }

    /** While the primary has not moved, what head and middle have answered before was of this round. */
    private static boolean isOver(final MirrorRequest request, final long atPrimary)
    {
        return atPrimary != request.base;
    }

    private void goOn(final MirrorRequest request)
    {
        request.step = isMiddleEqual(request) ? MirrorRequest.PUBLISH : MirrorRequest.REPAIR;
    }

    private void onRepaired(final MirrorRequest request, final long found)
    {
        if (found == request.atMiddle || found == request.decision)
        {
            request.atMiddle = request.decision;
            request.step = MirrorRequest.PUBLISH;
        }
        else
        {
            request.atMiddle = found;
            request.step = MirrorRequest.CHECK;
        }
    }

    private void onCompared(final MirrorRequest request, final long atHead)
    {
        if (atHead == request.base || request.isClaimed(atHead))
        {
            finish(request, request.base);
        }
        else
        {
            request.atHead = atHead;
            request.atMiddle = result(request, MIDDLE_AT);
            request.step = MirrorRequest.CHECK;
        }
    }

    /** @param found at the primary, at some time since the request began. */
    private void over(final MirrorRequest request, final long found)
    {
        if (request.kind == MirrorRequest.SETTLE)
        {
            releaseBlock(request);
            request.step = MirrorRequest.START;
        }
        else
        {
            finish(request, request.hasWon ? request.expected : found);
        }
    }

    void finish(final MirrorRequest request, final long found)
    {
        committed += request.hasWon ? 1 : 0;
        lost += request.hasWon ? 0 : 1;
        request.local.segment().set(WORD, request.localOffset, found);
        request.step = MirrorRequest.DONE;
        releaseBlock(request);
    }

    /** A request that ends, or begins again, needs the block no more. */
    void releaseBlock(final MirrorRequest request)
    {
        request.holdsBlock = false;
        if (helped == request)
        {
            helped = null;
        }
    }
}
