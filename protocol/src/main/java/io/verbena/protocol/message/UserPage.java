package io.verbena.protocol.message;

import io.verbena.protocol.access.User;

import java.util.List;

/**
 * Some users by ascending name.
 *
 * @param version     of the list: pages of different versions do not belong together.
 * @param isUnchanged whether that is the version that the caller knows; then nothing else is here.
 * @param users       as many as fit a message.
 * @param hasMore     whether there are more: ask again after the last name of this page.
 */
public record UserPage(long version, boolean isUnchanged, List<User> users, boolean hasMore)
{
}
